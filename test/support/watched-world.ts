import type { WorldOptions } from "../../src/simulate/settings.ts";
import type { World } from "../../src/simulate/world.ts";
import { type QuickWorld, startQuickWorld } from "./quick-world.ts";

const MINUTE_MS = 60_000;

/**
 * A world whose mirror has looked at the head of the build list again and again, some minutes apart, over one day; builds were
 * made between the looks. From then on the world's clock is the real one, as long as that is ahead.
 */
export async function startWatchedWorld(
  options: WorldOptions & { readAs?: string; looks?: number; minutesApart?: number },
): Promise<QuickWorld> {
  const { readAs, looks = 4, minutesApart = 5, ...worldOptions } = options;
  const live: { world?: World } = {};
  const quick = await startQuickWorld(
    { users: 5, projects: 6, versions: 12, files: 5, builds: 60, clockSteps: false, ...worldOptions },
    (_request, next) => {
      live.world?.advanceTo(new Date());
      return next();
    },
  );
  const settings = { sourceTimezone: readAs ?? quick.world.settings.timeZone };
  const sync = async (kind: "full" | "incremental") => {
    const { error } = await quick.sync({ kind, settings });
    if (error) throw error;
  };
  await sync("full");
  for (let look = 0; look < looks; look++) {
    quick.world.advance((minutesApart * MINUTE_MS) / 2);
    quick.world.triggerBuilds(3);
    quick.world.advance((minutesApart * MINUTE_MS) / 2);
    await sync("incremental");
  }
  live.world = quick.world;
  return quick;
}
