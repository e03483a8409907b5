-- The place of the error line of one build: in which text, and in which lines of it, from 1. The excerpt is both lines
-- where there is a message. It reads the whole text, so it is for one build at a time. Its body is bound when it is
-- created, so a role needs no right on schema rollup.
CREATE OR REPLACE FUNCTION report.error_place(
  error text, setup_error text, output text, setup text,
  OUT body text, OUT line_number int, OUT message_line_number int, OUT excerpt text
)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT located.body, whole.lines - located.line_from_end + 1, whole.lines - located.message_from_end + 1, located.excerpt
  FROM rollup.locate_error(error, setup_error, output, setup) AS located
  CROSS JOIN LATERAL (
    -- A carriage return and a line feed end one line.
    SELECT length(text) - length(translate(text, E'\n\r', '')) + 1 AS lines
    FROM (
      SELECT replace(CASE located.body WHEN 'error' THEN error WHEN 'setup_error' THEN setup_error WHEN 'output' THEN output ELSE setup END,
        E'\r\n', E'\n') AS text
    ) AS unix
  ) AS whole;
END;
COMMENT ON FUNCTION report.error_place(text, text, text, text) IS 'Where the error line of a build is, given its four texts: in which of them, the numbers of its line and of the line of its message, from 1, and the excerpt itself; nulls where there is none.';
