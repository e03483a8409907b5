-- not additive: it drops a function
-- Migration 0005 made rollup.describe_error and 0015 forgot it, so a new mirror kept it. In others the reports' own definitions drop it.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM sync.definitions WHERE name = 'rollup.describe_error') THEN
    DROP FUNCTION IF EXISTS rollup.describe_error(text);
  END IF;
END
$$;
