"""The part of `npm run bench:lake` that Spark does. Reads the questions from stdin, prints the answers and their times as JSON."""

import json
import sys
import time

from pyspark.sql import SparkSession

request = json.load(sys.stdin)


def now_ms():
    return time.perf_counter() * 1000


started = now_ms()
spark = (
    SparkSession.builder.master("local[*]")
    .config("spark.driver.memory", "8g")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "8")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    .getOrCreate()
)
spark.read.parquet(request["folder"] + "/fact_builds").createOrReplaceTempView("builds")
spark.sql("select 1").collect()
start_ms = now_ms() - started

answers = {}
for name, text in request["questions"]:
    times = []
    for _ in range(request["turns"]):
        began = now_ms()
        rows = [list(row) for row in spark.sql(text).collect()]
        times.append(now_ms() - began)
    answers[name] = {"ms": times, "rows": rows}
print(json.dumps({"start_ms": start_ms, "answers": answers}))
spark.stop()
