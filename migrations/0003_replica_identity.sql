-- additive: nothing reads or writes otherwise
-- A publication for all tables, as change data capture wants, else refuses each refresh, which deletes rows.
ALTER TABLE "sync"."touched_records" REPLICA IDENTITY FULL;
