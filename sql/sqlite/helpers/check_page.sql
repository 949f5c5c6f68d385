-- Refuses a :page_size or :v_page_offset that cannot be.
select refuse('validation-error', 'page_size must be between 0 and 500', 'Got ' || :page_size || '.')
where :page_size not between 0 and 500;
select refuse('validation-error', 'page_offset must not be negative', 'Got ' || :v_page_offset || '.')
where :v_page_offset < 0;
