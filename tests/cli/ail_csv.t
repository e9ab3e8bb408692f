# Data sets in CSV. `try` trains on a file and shows the code, the place and the fields of what is wrong with it.
$ cat > model.ail <<'END'
> model {
>   x [B, 2]
>   labels [B]
>   param W [2, 2]
>   logits = matmul(x, W)
> }
> train { loss = xent(logits, labels) steps = 3 }
> END
$ cat > try <<'END'
> printf "$1" > d.csv
> { cat model.ail; echo "dataset { format = \"csv\" path = \"d.csv\" $2 }"; } > m.ail
> tern train m.ail --allow fileread --json $3 | sed 's/.*"weights_sha256":"\([0-9a-f]\{8\}\).*/ok \1/
> s/.*"code":"\([A-Z0-9_]*\)".*"phase":"\([a-z]*\)".*"fields":\({[^}]*}\).*"line":\([0-9]*\),"col":\([0-9]*\),.*/\1 \2 \3 \4:\5/'
> END

# The same rows in TSV and in CSV, by name, number and range, in quotes, with other columns, line ends and
# delimiters: one training.
$ printf '1\t0.5\t0\n-2\t3e1\t1\n' > d.tsv
$ { cat model.ail; echo 'dataset { format = "tsv" path = "d.tsv" }'; } > t.ail
$ tern train t.ail --allow fileread --json | sed 's/.*"weights_sha256":"\([0-9a-f]\{8\}\).*/\1/'
| 1a147a04
$ sh try 'a,b,labels\n1,0.5,0\n-2,3e1,1\n' 'x = ["a", "b"]'
| ok 1a147a04
$ sh try 'a,b,c\n1,0.5,0\n-2,3e1,1\n' 'x = 0-1 labels = "c"'
| ok 1a147a04
$ sh try 'a,b,c\n1,0.5,0\n-2,3e1,1\n' 'x = [0, "b"] labels = 2'
| ok 1a147a04
$ sh try 'a,b,c\n1,0.5,0\n-2,3e1,1\n' 'x = "*" labels = "c"'
| ok 1a147a04
$ sh try '1,0.5,0\n-2,3e1,1\n' 'header = false x = 0-1 labels = 2'
| ok 1a147a04
$ sh try '1;0.5;0\n-2;3e1;1\n' 'header = false delimiter = ";" x = 0-1 labels = 2'
| ok 1a147a04
$ sh try '\357\273\277name,labels,"b, c",a\r\nx,0,"0.5", 1\r\n\r\n"y\nz",1,3e1,"-2"\r\n' 'x = ["a", "b, c"]'
| ok 1a147a04
# The order of columns is that of the list, not that of the file.
$ sh try 'a,b,labels\n0.5,1,0\n3e1,-2,1\n' 'x = ["b", "a"]'
| ok 1a147a04

# Labels may be names; they are numbered in the order of their bytes, wherever they first appear.
$ sh try 'a,b,labels\n1,0.5,cat\n-2,3e1,dog\n' 'x = 0-1'
| ok 1a147a04
$ sh try 'a,b,labels\n-2,3e1,dog\n1,0.5,cat\n' 'x = 0-1'
| ok 48da955e
$ sh try 'a,b,labels\n1,0.5,cat\n-2,3e1,dog\n1,1,bird\n' 'x = 0-1'
| E_DATASET_LABEL_OUT_OF_RANGE data {"path":"d.csv","line":"3","label":"dog","num_classes":"2"} 8:33
$ sh try 'a,b,labels\n1,0.5,0\n-2,3e1,dog\n' 'x = 0-1'
| E_DATASET_SCHEMA_WRONG_TYPE data {"path":"d.csv","line":"3","field":"labels","expected":"a whole number","received":"dog","col":"8"} 8:1
$ sh try 'a,b,labels\n1,0.5,cat\n-2,3e1,\n' 'x = 0-1'
| E_DATASET_MISSING_VALUE data {"path":"d.csv","line":"3","col":"8","column":"labels"} 8:1

# Missing numbers are refused, or become what the program says.
$ sh try 'a,b,labels\n1,0.5,0\n-2,,1\n' 'x = 0-1'
| E_DATASET_MISSING_VALUE data {"path":"d.csv","line":"3","col":"4","column":"b"} 8:45
$ sh try 'a,b,labels\n1,0.5,0\n-2,,1\n' 'x = 0-1 missing = 30'
| ok 1a147a04
$ sh try 'a,b,labels\n1,0.5,0\n-2,N/A,1\n2,59.5,0\n' 'x = 0-1 missing = "mean"'
| ok a356491d
$ sh try 'a,b,labels\n1,0.5,0\n-2,30,1\n2,59.5,0\n' 'x = 0-1'
| ok a356491d
# Validation rows affect no statistic.
$ sh try 'a,b,labels\n1,0.5,0\n-2,,1\n2,59.5,0\n3,9,1\n' 'x = 0-1 missing = "mean" split = 0.5'
| ok 942ced12
$ sh try 'a,b,labels\n1,0.5,0\n-2,0.5,1\n2,59.5,0\n3,9,1\n' 'x = 0-1 split = 0.5'
| ok 942ced12

# Mistakes in the file.
$ sh try '' 'x = 0-1'
| E_DATASET_EMPTY data {"path":"d.csv"} 8:33
$ sh try 'a,b,labels\n' 'x = 0-1'
| E_DATASET_EMPTY data {"path":"d.csv"} 8:33
$ sh try 'a,b,labels\n1,two,0\n' 'x = 0-1'
| E_DATASET_SCHEMA_WRONG_TYPE data {"path":"d.csv","line":"2","field":"b","expected":"a number","received":"two","col":"3"} 8:45
$ sh try 'a,b,labels\n1,1e39,0\n' 'x = 0-1'
| E_DATASET_SCHEMA_WRONG_TYPE data {"path":"d.csv","line":"2","field":"b","expected":"a number that fits 32 bits","received":"1e39","col":"3"} 8:45
$ sh try 'a,b,labels\n1,2,0\n1,2\n' 'x = 0-1'
| E_DATASET_CSV_PARSE_ERROR data {"path":"d.csv","line":"3","reason":"the rows before have more or fewer columns","expected":"3","received":"2"} 8:33
$ sh try 'a,b,labels\n1,2,0\n"1"x,2,0\n' 'x = 0-1'
| E_DATASET_CSV_PARSE_ERROR data {"path":"d.csv","line":"3","col":"4","reason":"only a delimiter may follow a closing quote"} 8:33
$ sh try 'a,b,labels\n1,2,0\n1,"2,0\n' 'x = 0-1'
| E_DATASET_CSV_PARSE_ERROR data {"path":"d.csv","line":"3","col":"3","reason":"a quote is opened here and never closed"} 8:33
$ sh try 'a,b,labels\n1,2,0\n1,\377,0\n' 'x = 0-1'
| E_FILE_INVALID_UTF8 data {"path":"d.csv","line":"3"} 8:33
$ sh try 'a,b,a\n1,2,0\n' 'x = ["a", "b"] labels = 2'
| E_DATASET_CSV_PARSE_ERROR data {"path":"d.csv","line":"1","col":"1","reason":"more than one column has the name that the program reads"} 8:33
$ sh try 'aeg,b,labels\n1,2,0\n' 'x = ["age", "b"]'
| E_DATASET_SCHEMA_MISSING_FIELD data {"path":"d.csv","line":"1","field":"age","suggestion":"aeg"} 8:45
$ sh try 'a,b,label\n1,2,0\n' 'x = 0-1'
| E_DATASET_SCHEMA_MISSING_FIELD data {"path":"d.csv","line":"1","field":"labels","suggestion":"label"} 8:1
$ sh try 'a,b,labels\n1,2,0\n' 'x = 0-3'
| E_DATASET_SCHEMA_MISSING_FIELD data {"path":"d.csv","line":"1","field":"3"} 8:45
$ sh try 'a,b,labels\n1,2,0\n' 'x = "*"'
| ok 89ab6f2e
$ sh try 'a,b,c,labels\n1,2,3,0\n' 'x = "*"'
| E_DATASET_DIM_MISMATCH data {"path":"d.csv","line":"2","expected_T":"2","received_T":"3","input":"x"} 8:45
$ sh try 'a,b,labels\n1,2,0\n1,2,5\n' 'x = 0-1'
| E_DATASET_LABEL_OUT_OF_RANGE data {"path":"d.csv","line":"3","label":"5","num_classes":"2"} 8:33

# Mistakes in the program.
$ sh try 'a,b,labels\n1,2,0\n' 'x = 3-0'
| E_SYNTAX_ERROR check {"line":"8","col":"45","message":"columns are names or numbers from 0: \"age\", 3, 0-3, [\"age\", 3], or \"*\" for the rest"} 8:45
$ sh try 'a,b,labels\n1,2,0\n' 'x = 0.5'
| E_SYNTAX_ERROR check {"line":"8","col":"45","message":"columns are names or numbers from 0: \"age\", 3, 0-3, [\"age\", 3], or \"*\" for the rest"} 8:45
$ sh try 'a,b,labels\n1,2,0\n' 'x = []'
| E_SYNTAX_ERROR check {"line":"8","col":"45","message":"columns are names or numbers from 0: \"age\", 3, 0-3, [\"age\", 3], or \"*\" for the rest"} 8:45
$ sh try 'a,b,labels\n1,2,0\n' 'x = [0, "*"]'
| E_DATASET_SCHEMA_MISSING_FIELD data {"path":"d.csv","line":"1","field":"*"} 8:45
$ sh try 'a,b,labels\n1,2,0\n' 'x = 0-1 labels = [0, 1]'
| E_SYNTAX_ERROR check {"line":"8","col":"58","message":"labels are one column, unless the input is labels [B, T]"} 8:58
$ sh try 'a,b,labels\n1,2,0\n' 'x = 0-1 delimiter = ".."'
| E_SYNTAX_ERROR check {"line":"8","col":"61","message":"`delimiter` is one of \",\", \";\", \":\", \"|\", \" \" and \"\\t\""} 8:61
$ sh try 'a,b,labels\n1,2,0\n' 'x = 0-1 header = 1'
| E_SYNTAX_ERROR check {"line":"8","col":"58","message":"`header` is true or false"} 8:58
$ sh try 'a,b,labels\n1,2,0\n' 'x = 0-1 missing = "median"'
| E_SYNTAX_ERROR check {"line":"8","col":"59","message":"`missing` is a number, or \"mean\""} 8:59
$ sh try 'a,b,labels\n1,2,0\n' 'x = 0-1 normalize = [labels]'
| E_SYNTAX_ERROR check {"line":"8","col":"62","message":"`normalize` lists inputs of numbers, as in `normalize = [x]`"} 8:62
$ sh try 'a,b,labels\n1,2,0\n' 'x = 0-1 z = 1'
| E_SYNTAX_ERROR check {"line":"8","col":"49","message":"`z` is not a field of the dataset block"} 8:49
$ sh try '1,2,0\n' 'x = 0-1 header = false'
| E_SYNTAX_ERROR check {"line":"3","col":"3","message":"columns without a header have no names: number this input's, as in `x = 0-3`"} 3:3
$ sh try 'a,b,labels\n1,2,0\n' 'x = 0-1 header = true header = true'
| E_SYNTAX_ERROR check {"line":"8","col":"63","message":"this field is given twice"} 8:63

# An input that the command line gives is not read; one that nothing gives is an error.
$ sh try 'a,b\n1,2\n3,4\n' 'x = ["a", "b"]' '--input labels=[0,1,0,1]'
| ok 152d77b8
$ sh try 'a,b\n1,2\n3,4\n' 'x = ["a", "b"]'
| E_DATASET_SCHEMA_MISSING_FIELD data {"path":"d.csv","line":"1","field":"labels"} 8:1

# A row may have any number of axes, and a target may be a number.
$ printf 'p,q,r,s,price\n1,2,3,4,10\n5,6,7,8,26\n' > d.csv
$ cat > m.ail <<'END'
> model {
>   image [B, 2, 2]
>   price [B]
>   param W [4, 1]
>   y = reshape(matmul(reshape(image, [@0, 4]), W), [@0])
> }
> train { loss = mse_loss(y, price) steps = 400 lr = 0.01 }
> dataset { format = "csv" path = "d.csv" image = "p" }
> END
$ tern train m.ail --allow fileread
! error[E_DATASET_DIM_MISMATCH]: row length 1 in line 2 of `d.csv`, where `image` takes 4
!   --> m.ail:8:49
!    |
!  8 | dataset { format = "csv" path = "d.csv" image = "p" }
!    |                                                 ^^^
!    = path: d.csv
!    = line: 2
!    = expected_T: 4
!    = received_T: 1
!    = input: image
!    = hint: declare `image` as long as the rows are, or choose other columns in the dataset block
!
? 1
$ sed -i 's/image = "p"/image = 0-3/' m.ail
$ tern train m.ail --allow fileread | tail -n 2
| Step 399: loss = 0.069367
| Training completed

# A range of columns stays one when the program is formatted.
$ printf 'dataset{format="csv"\npath="d.csv"\nx=[0 - 3,"age",5]\ny=6-7\nnormalize=[x]\n}\n' | tern fmt - --lang ail
| dataset {
|   format = "csv"
|   path = "d.csv"
|   x = [0-3, "age", 5]
|   y = 6-7
|   normalize = [x]
| }
