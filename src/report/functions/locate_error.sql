-- Where the texts of a failed build say what went wrong, and what they say: the last line that looks like an
-- error, of the first of the four texts that has one; else the last line of the first text that is not blank. A
-- line that ends in a colon only announces its message, which is the next line, or after a traceback the next
-- one that is not indented. Where that is missing, another line is better. Texts may be megabytes long, so only
-- their last 4,000 characters are read, and lines are counted from the end, 1 for the last.
CREATE OR REPLACE FUNCTION rollup.locate_error(
  error text, setup_error text, output text, setup text,
  OUT body text, OUT line_from_end int, OUT message_from_end int, OUT excerpt text
)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
  marker CONSTANT text := 'error:|fatal:|exception|killed|traceback|out of memory|no space left';
  names CONSTANT text[] := ARRAY['error', 'setup_error', 'output', 'setup'];
  tails CONSTANT text[] := ARRAY[right(error, 4000), right(setup_error, 4000), right(output, 4000), right(setup, 4000)];
  tail text;
  lines text[];
  line text;
  message int;
  is_marked boolean;
  is_only_marker boolean := false;
BEGIN
  FOR place IN 1..4 LOOP
    tail := tails[place];
    is_marked := tail ~* marker;
    CONTINUE WHEN is_marked IS NULL OR NOT is_marked AND excerpt IS NOT NULL;
    IF position(E'\r' IN tail) > 0 THEN tail := translate(replace(tail, E'\r\n', E'\n'), E'\r', E'\n'); END IF;
    IF position(E'\x1b' IN tail) > 0 THEN tail := regexp_replace(tail, '\x1b\[[0-9;?]*[ -/]*[@-~]', '', 'g'); END IF;
    lines := string_to_array(regexp_replace(tail, '[\x01-\x09\x0b-\x1f\x7f-\x9f]+', ' ', 'g'), E'\n');
    FOR number IN REVERSE cardinality(lines)..1 LOOP
      line := btrim(lines[number]);
      CONTINUE WHEN line = '';
      IF is_marked AND line ~* marker THEN
        message := NULL;
        IF right(line, 1) = ':' THEN
          FOR below IN number + 1..cardinality(lines) LOOP
            CONTINUE WHEN lines[below] !~ '[^ ]' OR left(lines[below], 1) = ' ' AND line ~* 'traceback';
            message := below;
            EXIT;
          END LOOP;
          CONTINUE WHEN message IS NULL AND is_only_marker;
        END IF;
        body := names[place];
        line_from_end := cardinality(lines) - number + 1;
        message_from_end := cardinality(lines) - message + 1;
        excerpt := left(concat_ws(' ', line, btrim(lines[message])), 400);
        is_only_marker := right(line, 1) = ':' AND message IS NULL;
        IF NOT is_only_marker THEN RETURN; END IF;
      ELSIF excerpt IS NULL THEN
        body := names[place];
        line_from_end := cardinality(lines) - number + 1;
        excerpt := left(line, 400);
      END IF;
      EXIT WHEN NOT is_marked;
    END LOOP;
  END LOOP;
END
$$;
