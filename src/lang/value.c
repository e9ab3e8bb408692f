/* lang/value.c: writes values as JSON, as the command-line contract defines. */
#include "lang/value.h"

#include "base/json.h"
#include "tensor/print.h"

static void put_datum(const tn_datum *datum, const tn_names *names, tn_json_writer *json);

static void put_kind(tn_json_writer *json, const char *kind) {
  tn_json_key(json, "kind"), tn_json_string(json, tn_str_of(kind));
}

static void put_dtype(tn_json_writer *json, tn_dtype dtype) {
  tn_json_key(json, "dtype"), tn_json_string(json, tn_str_of(tn_dtype_name(dtype)));
}

/* A symbolic dimension is its name; an unknown one is UNK, as in MIND's types. */
static void put_dims(tn_json_writer *json, const char *key, const tn_shape *shape, const tn_names *names) {
  tn_json_key(json, key), tn_json_array_begin(json);
  for (int i = 0; i < shape->rank; i++) {
    if (tn_dim_is_known(shape->dim[i]))
      tn_json_int(json, shape->dim[i]);
    else if (tn_dim_is_symbol(shape->dim[i]) && names)
      tn_json_string(json, tn_names_text(names, tn_dim_name(shape->dim[i])));
    else
      tn_json_string(json, TN_LIT("UNK"));
  }
  tn_json_array_end(json);
}

/* Numbers that are not yet lengths: a -1 among them is a number. */
static void put_plain_dims(const tn_datum *datum, tn_json_writer *json) {
  tn_json_key(json, "dims"), tn_json_array_begin(json);
  for (size_t i = 0; i < datum->count; i++) tn_json_int(json, datum->items[i].integer);
  tn_json_array_end(json);
}

static void put_number(tn_json_writer *json, tn_dtype dtype, double number) {
  if (dtype == TN_BOOL)
    tn_json_bool(json, number != 0);
  else if (dtype == TN_F64)
    tn_json_f64(json, number);
  else
    tn_json_f32(json, (float)number);
}

static void put_tensor(const tn_datum *datum, const tn_names *names, tn_json_writer *json) {
  if (datum->name.len > 0) tn_json_key(json, "name"), tn_json_string(json, datum->name);
  put_dtype(json, datum->dtype);
  put_dims(json, "shape", &datum->shape, names);
  tn_json_key(json, "data");
  if (datum->tensor.buffer) {
    tn_view_print_json_data(&datum->tensor.view, json->out);
    json->comma = true;
    return;
  }
  tn_json_null(json);
  if (datum->has_fill) tn_json_key(json, "fill"), put_number(json, datum->dtype, datum->number);
}

static void put_items(const tn_datum *datum, const tn_names *names, tn_json_writer *json) {
  tn_json_key(json, "items"), tn_json_array_begin(json);
  for (size_t i = 0; i < datum->count; i++) put_datum(&datum->items[i], names, json);
  tn_json_array_end(json);
}

static void put_entries(const tn_datum *datum, const tn_names *names, tn_json_writer *json) {
  tn_json_key(json, "entries"), tn_json_object_begin(json);
  for (size_t i = 0; i < datum->count; i++) {
    tn_datum entry = datum->items[i];
    tn_json_key_str(json, entry.name);
    entry.name = (tn_str){ 0 }; /* its key says it */
    put_datum(&entry, names, json);
  }
  tn_json_object_end(json);
}

static void put_text(tn_json_writer *json, const char *kind, const char *key, tn_str text) {
  put_kind(json, kind);
  tn_json_key(json, key), tn_json_string(json, text);
}

static void put_members(const tn_datum *datum, const tn_names *names, tn_json_writer *json) {
  switch (datum->kind) {
    case TN_VALUE_TENSOR: put_kind(json, "tensor"), put_tensor(datum, names, json); break;
    case TN_VALUE_INT:
      put_kind(json, "int"), put_dtype(json, datum->dtype);
      tn_json_key(json, "value"), tn_json_int(json, datum->integer);
      break;
    case TN_VALUE_FLOAT:
      put_kind(json, "float"), put_dtype(json, datum->dtype);
      tn_json_key(json, "value"), put_number(json, datum->dtype, datum->number);
      break;
    case TN_VALUE_BOOL:
      put_kind(json, "bool");
      tn_json_key(json, "value"), tn_json_bool(json, datum->integer != 0);
      break;
    case TN_VALUE_STRING: put_text(json, "string", "value", datum->text); break;
    case TN_VALUE_SHAPE:
      put_kind(json, "shape");
      if (datum->items) put_plain_dims(datum, json);
      else put_dims(json, "dims", &datum->shape, names);
      break;
    case TN_VALUE_TUPLE: put_kind(json, "tuple"), put_items(datum, names, json); break;
    case TN_VALUE_LIST: put_kind(json, "list"), put_items(datum, names, json); break;
    case TN_VALUE_GRAD: put_kind(json, "grad"), put_entries(datum, names, json); break;
    case TN_VALUE_INSTANCE: put_text(json, "instance", "module", datum->text); break;
    case TN_VALUE_BLOCK: put_kind(json, "block"); break;
    case TN_VALUE_FUNCTION: put_text(json, "function", "name", datum->text); break;
    case TN_VALUE_UNIT: put_kind(json, "unit"); break;
  }
}

static void put_datum(const tn_datum *datum, const tn_names *names, tn_json_writer *json) {
  if (!tn_text_room(json->out)) return;
  tn_json_object_begin(json);
  put_members(datum, names, json);
  tn_json_object_end(json);
}

void tn_datum_json(const tn_datum *datum, const tn_names *names, tn_text *out) {
  tn_json_writer json = tn_json_writer_on(out);
  put_datum(datum, names, &json);
}

/* With a list instead of recursion: releasing cannot fail, however deep the tree is. */
void tn_datum_release(tn_datum *datum) {
  datum->next = NULL;
  while (datum) {
    tn_datum *items = datum->items;
    size_t count = datum->count;
    tn_tensor_unref(&datum->tensor);
    datum = datum->next;
    for (size_t i = 0; i < count; i++) {
      items[i].next = datum;
      datum = &items[i];
    }
  }
}
