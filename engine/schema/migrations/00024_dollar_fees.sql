-- +goose Up
-- The newer exchanges take fees in dollars on both sides. A program that does not support fees
-- below 0 would add them up wrongly, so it refuses this database.
COMMENT ON COLUMN fills.fee IS 'millionths: of a sell dollars, of a buy tokens, or, below 0, dollars on top of usd';
COMMENT ON COLUMN lost_fills.fee IS 'as that of fills';
COMMENT ON COLUMN waiting_fills.fee IS 'as that of fills';

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
