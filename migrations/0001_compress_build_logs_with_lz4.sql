-- Compressing the texts of builds is half of the work of loading them; lz4 does it in less than half of the time.
-- A server may be built without it, as the embedded one is: then the tables stay as they are.
DO $$
BEGIN
  IF 'lz4' = ANY (SELECT unnest(enumvals) FROM pg_settings WHERE name = 'default_toast_compression') THEN
    ALTER TABLE mirror.build_logs
      ALTER COLUMN output SET COMPRESSION lz4,
      ALTER COLUMN error SET COMPRESSION lz4,
      ALTER COLUMN setup SET COMPRESSION lz4,
      ALTER COLUMN setup_error SET COMPRESSION lz4;
  END IF;
END
$$;
