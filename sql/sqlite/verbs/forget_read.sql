-- forget_read(key text)
--
-- Forgets the answer kept under a key, if there is one.
delete from reads where key = :key returning key as forgotten;
