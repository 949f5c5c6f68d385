-- unlock_read(key text)
--
-- Takes the mark of a question back: it was answered, or could not be passed on.
delete from reads_in_flight where key = :key returning key as unlocked;
