import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";

/** How any Spark of a test runs. */
export const SMALL_SPARK = {
  "spark.driver.host": "127.0.0.1",
  "spark.driver.bindAddress": "127.0.0.1",
  "spark.ui.enabled": "false",
  "spark.log.level": "ERROR",
  "spark.sql.shuffle.partitions": "2",
  // To compile a statement takes longer than to run it over so few rows.
  "spark.sql.codegen.wholeStage": "false",
};

/**
 * A cluster of Spark on this machine: a master and two workers with one core each, in processes of their own, all on the loopback. `folder` gets
 * its tables and logs.
 */
export function clusterConf(folder: string): Record<string, string> {
  return {
    ...SMALL_SPARK,
    "spark.master": "local-cluster[2,1,1024]",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.warehouse.dir": join(folder, "warehouse"),
    "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
  };
}

/** A process of some minutes would spend most of them on optimizing its own code. */
export const SHORT_LIVED_JAVA = { JDK_JAVA_OPTIONS: "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC" };

/**
 * The environment of such a cluster. Workers write below their SPARK_HOME, so each gets one of its own, whose programs are those of pip's package.
 */
export async function clusterEnv(
  folder: string,
  packages: string,
  python: string,
): Promise<Record<string, string>> {
  const home = join(folder, "spark");
  await mkdir(home, { recursive: true });
  for (const name of await readdir(join(packages, "pyspark"))) {
    await symlink(join(packages, "pyspark", name), join(home, name));
  }
  return {
    ...SHORT_LIVED_JAVA,
    SPARK_HOME: home,
    SPARK_LOCAL_IP: "127.0.0.1",
    SPARK_LOCAL_HOSTNAME: "localhost",
    SPARK_LOCAL_DIRS: join(folder, "scratch"),
    PYSPARK_PYTHON: python,
  };
}

/** The numbers of the executors that a program of this cluster had. The first two were one on each worker, which has one core. */
export async function listExecutors(folder: string): Promise<string[]> {
  const work = join(folder, "spark", "work");
  const [app = ""] = await readdir(work);
  return readdir(join(work, app));
}
