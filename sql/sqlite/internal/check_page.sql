-- Refuses a :page_size or :v_page_offset that cannot be.
select refuse(
  'validation-error', 'page_size must be between 0 and 500 and page_offset not negative',
  'Got ' || :page_size || ' and ' || :v_page_offset || '.'
)
where :page_size not between 0 and 500 or :v_page_offset < 0;
