-- Some rows are in the table that inherits.
WITH moved AS (DELETE FROM ONLY public.profiles WHERE length(handle) % 2 = 0 OR mark > 'm' RETURNING *) INSERT INTO public.profiles_old SELECT * FROM moved;
