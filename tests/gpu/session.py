"""Session(device="cuda") on the GPU that the host emulates (driver.c): the values of the CPU."""
import numpy
import tern

MODEL = """
model {
  x [B, 3]
  labels [B]
  param W [3, 4]
  param V [4, 2]
  logits = matmul(relu(matmul(x, W)), V)
}
train {
  loss = xent(logits, labels)
  steps = 5
  lr = 0.1
  batch = 4
}
"""


def values(device):
    """The losses of a training, the parameters after it, and an answer of the trained model."""
    with tern.Session(seed=3, device=device) as session:
        program = session.compile(MODEL, "ail")
        losses = [step["loss"] for step in program.train()["history"]]
        program.run(x=[[1, 2, 3], [-1, 0.5, 2]])
        return losses, {name: at.copy() for name, at in program.params().items()}, program.output().copy()


losses, params, output = values("cpu")
losses_there, params_there, output_there = values("cuda")
assert losses == losses_there and len(losses) == 5, (losses, losses_there)
assert params.keys() == params_there.keys() == {"W", "V"}
for name, value in params.items():
    assert value.tobytes() == params_there[name].tobytes(), name
assert isinstance(output, numpy.ndarray) and output.tobytes() == output_there.tobytes()
try:
    tern.Session(device="gpu")
    raise SystemExit("a device that does not exist")
except ValueError as error:
    assert "there are cpu, cuda and auto" in str(error), error
print("python: one training on two devices")
