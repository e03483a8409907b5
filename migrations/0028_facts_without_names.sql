-- not additive: it drops two triggers, by which an older program knows which files of an export have old names
-- The files of an export have names in the dimensions alone, so a new name changes no month of facts.
DROP TRIGGER "note_update" ON "report"."dim_projects";--> statement-breakpoint
DROP TRIGGER "note_update" ON "report"."dim_versions";--> statement-breakpoint
DROP FUNCTION "sync"."note_renamed_projects"();--> statement-breakpoint
DROP FUNCTION "sync"."note_renamed_versions"();
