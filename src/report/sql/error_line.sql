-- The line that says what went wrong. Takes the last line that looks like an error, from the first of the
-- four texts that has one; else the last line of the first text that is not empty. Texts may be megabytes
-- long, so only their last 4,000 characters are read.
CREATE OR REPLACE FUNCTION rollup.error_line(error text, setup_error text, output text, setup text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
  marker CONSTANT text := 'error:|fatal:|exception|killed|traceback|out of memory|no space left';
  bodies CONSTANT text[] := ARRAY[right(error, 4000), right(setup_error, 4000), right(output, 4000), right(setup, 4000)];
  body text;
  lines text[];
BEGIN
  FOREACH body IN ARRAY bodies LOOP
    CONTINUE WHEN body IS NULL OR body !~* marker;
    lines := regexp_split_to_array(body, '[\r\n]+');
    FOR place IN REVERSE array_length(lines, 1)..1 LOOP
      IF lines[place] ~* marker THEN RETURN rollup.plain_line(lines[place]); END IF;
    END LOOP;
  END LOOP;
  FOREACH body IN ARRAY bodies LOOP
    CONTINUE WHEN body IS NULL OR body !~ '\S';
    lines := regexp_split_to_array(body, '[\r\n]+');
    FOR place IN REVERSE array_length(lines, 1)..1 LOOP
      IF lines[place] ~ '\S' THEN RETURN rollup.plain_line(lines[place]); END IF;
    END LOOP;
  END LOOP;
  RETURN NULL;
END
$$;
