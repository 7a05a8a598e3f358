"""Makes the Parquet files beside it from `spend.csv`, a log that `routelab run --spend-log` wrote. pyarrow 16 or later."""

import csv
import json
from datetime import datetime, timezone

import pyarrow as pa
import pyarrow.parquet as pq

rows = list(csv.DictReader(open("spend.csv", newline="")))
names = list(rows[0])


def column(name, of=lambda text: text, type=None):
    return pa.array([of(row[name]) if row[name] else None for row in rows], type)


def moment(text):
    return datetime.fromisoformat(text).astimezone(timezone.utc)


def table(**changed):
    """Every column as text, but for those that are given; None leaves one out."""
    columns = {name: column(name) for name in names} | changed
    return pa.table({name: values for name, values in columns.items() if values is not None})


def told(text):
    told = json.loads(text)
    return told | {"tags": ["a", "b"]}


typed = table(
    startTime=column("startTime", moment, pa.timestamp("ns", "UTC")),
    endTime=column("endTime", moment, pa.timestamp("us", "UTC")),
    completionStartTime=column("completionStartTime", moment, pa.timestamp("us")),
    model_group=column("model_group").dictionary_encode(),
    prompt_tokens=column("prompt_tokens", float, pa.float64()),
    completion_tokens=column("completion_tokens", int, pa.int32()),
    session_id=column("session_id", int, pa.uint64()),
    cache_hit=column("cache_hit", lambda text: text == "True", pa.bool_()),
    metadata=column("metadata", told),
)
pq.write_table(table(), "text.parquet", compression="snappy")
pq.write_table(typed, "typed.parquet", compression="zstd", row_group_size=100)
pq.write_table(typed, "spark.parquet", compression="gzip", use_deprecated_int96_timestamps=True, data_page_version="2.0")
pq.write_table(table(startTime=column("startTime", bool)), "truth_as_time.parquet")
pq.write_table(table(prompt_tokens=column("startTime", moment)), "time_as_tokens.parquet")
pq.write_table(table(completion_tokens=column("model", lambda text: [1])), "list_as_tokens.parquet")
pq.write_table(table(prompt_tokens=column("model", lambda text: "many")), "words_as_tokens.parquet")
pq.write_table(table(endTime=None), "no_end.parquet")
pq.write_table(pa.table({"at": [float(n) for n in range(200)], "took": [150 + n % 40 for n in range(200)]}), "own.parquet", compression="lz4")
