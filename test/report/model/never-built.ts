/** Versions that the service has, of which no build is known. */
import type { Fact } from "./facts.ts";
import type { Row } from "./rates.ts";
import type { Raw } from "./raw.ts";

export function neverBuilt(facts: readonly Fact[], raw: Raw): Row[] {
  const built = new Set(facts.map(({ version }) => version.id));
  return raw.versions
    .filter(({ id, isDeleted }) => !isDeleted && !built.has(id))
    .map(({ id, name, slug, isActive }) => ({
      version_id: id,
      version_slug: slug || id,
      version_name: name,
      is_active: isActive ?? null,
    }));
}
