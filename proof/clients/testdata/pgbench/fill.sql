INSERT INTO branches (bid) SELECT n FROM generate_series(1, 2) AS n;
INSERT INTO tellers (tid, bid) SELECT n, 1 + n % 2 FROM generate_series(1, 20) AS n;
INSERT INTO accounts (aid, bid) SELECT n, 1 + n % 2 FROM generate_series(1, 1000) AS n;
