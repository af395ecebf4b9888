-- Grades of the sources that are followed: a JSON object of lists of grade and lag in
-- seconds by name; NULL where none was followed.
-- +goose Up
ALTER TABLE status_samples ADD COLUMN sources TEXT;
