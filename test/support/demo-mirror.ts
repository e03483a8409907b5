import { passDay } from "../../src/cli/demo/simulated-day.ts";
import { createWorld, startSimulation } from "./simulation.ts";
import { withDefaults } from "./sync.ts";

/**
 * Mirrors the world of `docmirror demo` into an empty database, with its syncs and its watch, at a day that never moves. It is one
 * that is past, so that no answer has a day to come.
 */
export async function fillDemoMirror(databaseUrl: string, startAt: Date): Promise<void> {
  const world = createWorld({ startAt });
  const service = await startSimulation({ world });
  try {
    const { settings, connections, log, signal } = withDefaults(databaseUrl, new URL(service.url), {
      settings: { sourceTimezone: world.settings.timeZone },
    });
    const { imperfect } = await passDay(
      { world, settings, connections, log, signal },
      () => {},
      () => {},
    );
    if (imperfect !== null) throw new Error(`a sync of the demo ended as ${imperfect.summary.status}`);
  } finally {
    await service.close();
  }
}
