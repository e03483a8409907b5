"""Merges an export of docmirror into Iceberg tables. See "Iceberg" in docs/scale.md.

    spark-submit --packages org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0 \\
      --conf spark.sql.extensions=org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions \\
      --conf spark.sql.catalog.lake=org.apache.iceberg.spark.SparkCatalog \\
      --conf spark.sql.catalog.lake.type=hadoop --conf spark.sql.catalog.lake.warehouse=/data/lake \\
      merge.py /data/docmirror lake.docmirror

The first argument is the folder of the export, at any address that Spark reads; the second one the catalog and namespace. A table gets one
snapshot for each export, with the run's number in its summary. Only months whose revision changed are written. It may be repeated, and
killed at any moment. `as_of` is written last: it shows the run that all tables have.

Exit codes: 0 the tables have this export, 1 something failed (tables that are done stay done, and the next call does the rest), 2 this export
cannot be merged.
"""

import json
import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, lit
from pyspark.sql.types import StructType

LAYOUT = 3
FACTS = "fact_builds"
REVISIONS = "fact_months"
MONTH = "triggered_month"
LAST = "as_of"
# What a snapshot says of the export that it came from.
SUMMARY = "docmirror."


class Refused(Exception):
    """This export cannot be merged, whatever is tried again."""


def read_manifest(spark: SparkSession, folder: str) -> dict:
    # By Hadoop, which reads each address that Spark reads. Spark itself takes a name that begins with _ for hidden.
    path = spark._jvm.org.apache.hadoop.fs.Path(f"{folder}/_docmirror.json")
    files = path.getFileSystem(spark._jsc.hadoopConfiguration())
    if not files.exists(path):
        raise Refused(f"{path} is not there: name the folder of an export")
    stream = files.open(path)
    try:
        manifest = json.loads(spark._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
    except ValueError as error:
        raise Refused(f"{path} is no JSON: {error}") from None
    finally:
        stream.close()
    if not isinstance(manifest, dict) or manifest.get("made_by") != "docmirror export":
        raise Refused(f"{path} is not of an export of docmirror")
    if manifest.get("layout") != LAYOUT:
        raise Refused(f"the export has layout {manifest.get('layout')}, and this program reads {LAYOUT}: take the one of its version")
    if manifest.get("format") != "parquet":
        raise Refused("the export has the format csv: make it with --format parquet")
    if manifest.get("since") or manifest.get("until"):
        raise Refused("the export has only the builds of some days: make it without --since and --until")
    return manifest


def form_of(manifest: dict) -> str:
    """All on which rows depend besides the facts. After a change each month is written."""
    return json.dumps([manifest[name] for name in ("layout", "version", "definition")])


def last_merge(spark: SparkSession, table: str) -> dict[str, str]:
    """What the newest snapshot that a merge made says. Empty where another program has changed rows since."""
    snapshots = spark.sql(
        f"""select operation, summary from {table}.snapshots as snapshot join {table}.history as history using (snapshot_id)
        where history.is_current_ancestor order by history.made_current_at desc"""
    )
    for snapshot in snapshots.collect():
        if SUMMARY + "exported_at" in snapshot.summary:
            return {key[len(SUMMARY) :]: value for key, value in snapshot.summary.items() if key.startswith(SUMMARY)}
        # A compaction changes files, and no row.
        if snapshot.operation != "replace":
            break
    return {}


def make_table(spark: SparkSession, table: str, rows: DataFrame) -> None:
    """With the columns of the rows: a new column is added, a missing one stays and is null from now on. Types may grow."""
    if not spark.catalog.tableExists(table):
        columns = ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in rows.schema.fields)
        months = f"partitioned by ({MONTH})" if MONTH in rows.columns else ""
        spark.sql(f"create table {table} ({columns}) using iceberg {months}")
        return
    known: StructType = spark.table(table).schema
    for field in rows.schema.fields:
        kind = field.dataType.simpleString()
        if field.name not in known.names:
            spark.sql(f"alter table {table} add column `{field.name}` {kind}")
        elif known[field.name].dataType != field.dataType:
            try:
                spark.sql(f"alter table {table} alter column `{field.name}` type {kind}")
            except Exception as error:
                was = known[field.name].dataType.simpleString()
                raise Refused(f"{table}: column {field.name} is {was} and would be {kind}: drop the table, and merge again") from error


def replace(spark: SparkSession, table: str, rows: DataFrame, where, summary: dict[str, str]) -> None:
    """Replaces the rows that meet a condition, in one snapshot."""
    missing = [name for name in spark.table(table).columns if name not in rows.columns]
    kinds = spark.table(table).schema
    rows = rows.select("*", *(lit(None).cast(kinds[name].dataType).alias(name) for name in missing))
    writer = rows.writeTo(table)
    for key, value in summary.items():
        writer = writer.option(f"snapshot-property.{SUMMARY}{key}", value)
    writer.overwrite(where)


def merge(spark: SparkSession, folder: str, namespace: str) -> None:
    manifest = read_manifest(spark, folder)
    spark.sql(f"create namespace if not exists {namespace}")
    about = {"exported_at": manifest["exported_at"], "run_id": str(manifest["run_id"]), "form": form_of(manifest)}
    relations = manifest["relations"]
    # Facts after dimensions, so that a build whose project is new has it. A revision comes when its facts are there; `as_of` says that all are.
    last_ones = [FACTS, REVISIONS, LAST]
    names = [*(name for name in relations if name not in last_ones), *last_ones]
    for name in names:
        table, files = f"{namespace}.{name}", relations[name]["files"]
        last = last_merge(spark, table) if spark.catalog.tableExists(table) else {}
        # Times in UTC, whose fractions of a second have as many digits as they need.
        if last.get("exported_at", "").rstrip("Z") > about["exported_at"].rstrip("Z"):
            raise Refused(f"{table} has an export of {last['exported_at']}, and this one is of {about['exported_at']}")
        if last.get("exported_at") == about["exported_at"]:
            print(f"{table}: has it already")
            continue
        revisions = {file["path"]: file.get("revision") for file in files}
        before = json.loads(last.get("revisions", "{}")) if last.get("form") == about["form"] else {}
        same = {path for path, revision in revisions.items() if name == FACTS and revision and before.get(path) == revision}
        changed = [path for path in revisions if path not in same]
        # Where no file is read, the newest gives the columns.
        paths = [f"{folder}/{path}" for path in changed or list(revisions)[:1]]
        if not paths:
            raise Refused(f"the export has no file of {name}")
        rows = spark.read.option("basePath", f"{folder}/{name}").parquet(*paths)
        make_table(spark, table, rows)
        summary = {**about, "revisions": json.dumps(revisions)}
        kept = [path.split("/")[1].partition("=")[2] for path in same]
        where = ~col(MONTH).isin(kept) if kept else lit(True)
        replace(spark, table, rows if changed else rows.limit(0), where, summary)
        counted = spark.sql(f"select coalesce(sum(record_count), 0) as rows from {table}.files where content = 0").first()["rows"]
        if counted != relations[name]["rows"]:
            raise RuntimeError(f"{table} has {counted} rows, and the export {relations[name]['rows']}: drop the table, and merge again")
        print(f"{table}: {len(changed)} of {len(revisions)} files written, {counted} rows")
    if read_manifest(spark, folder)["exported_at"] != manifest["exported_at"]:
        raise RuntimeError("the export was made anew while it was read: merge again")


def start_session() -> SparkSession:
    spark = SparkSession.builder.appName("docmirror merge").getOrCreate()
    # `2026-10` is a text.
    spark.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    return spark


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[2].count(".") == 0:
        print("merge.py FOLDER CATALOG.NAMESPACE", file=sys.stderr)
        return 2
    spark = start_session()
    try:
        merge(spark, sys.argv[1].rstrip("/"), sys.argv[2])
        return 0
    except Refused as error:
        print(f"merge.py: {error}", file=sys.stderr)
        return 2
    finally:
        spark.stop()


if __name__ == "__main__":
    sys.exit(main())
