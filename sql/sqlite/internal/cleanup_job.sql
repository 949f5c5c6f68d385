-- Number of the job whose tasks clean up, as :v_cleanup_job; null while there was
-- nothing to clean up.
select j.id as v_cleanup_job from jobs as j where j.full_name = '@internal:maintenance:incomplete-cleanup';
