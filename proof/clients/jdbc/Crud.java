// Postgres' JDBC driver, as applications use it. Each check is told in a line of JSON.

import java.io.StringReader;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.*;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;
import org.postgresql.PGConnection;
import org.postgresql.jdbc.PreferQueryMode;
import org.postgresql.util.PGInterval;
import org.postgresql.util.PGobject;

public class Crud {
    static final String SLOW = "SELECT count(*) FROM generate_series(1, 1000000) AS a, generate_series(1, 1000000) AS b WHERE a + b < 0";

    interface Check { void run() throws Exception; }

    static Connection c;
    static int failed = 0;

    public static void main(String[] args) throws Exception {
        c = connect("");
        check("CRUD", Crud::crud);
        check("a statement that becomes prepared", Crud::prepared);
        check("types", Crud::types);
        check("types, as text", () -> with("binaryTransfer=false", Crud::types));
        check("types that the driver does not know", Crud::rareTypes);
        check("types that it looks up each in a transaction", () -> with("", () -> { c.setAutoCommit(false); rareTypes(); c.commit(); }));
        check("transactions and savepoints", Crud::transactions);
        check("modes of a connection", Crud::modes);
        check("batches", () -> batches(c));
        check("batches that are rewritten", () -> with("reWriteBatchedInserts=true", () -> batches(c)));
        check("rows in portions", Crud::portions);
        check("several statements in one text", Crud::several);
        check("errors", Crud::errors);
        check("autosave", () -> with("autosave=always", Crud::autosave));
        check("timeouts and cancelling", Crud::cancel);
        check("COPY", Crud::copy);
        check("the simple protocol", () -> with("preferQueryMode=simple", () -> { crud(); prepared(); transactions(); portions(); }));
        check("described anew each time", () -> with("preferQueryMode=extendedForPrepared&prepareThreshold=-1", () -> { crud(); prepared(); types(); }));
        check("never prepared", () -> with("prepareThreshold=0", () -> { crud(); prepared(); types(); }));
        check("what pools ask", Crud::pools);
        c.close();
        System.exit(failed == 0 ? 0 : 1);
    }

    static Connection connect(String options) throws Exception {
        URI at = new URI(System.getenv("DATABASE_URL"));
        String[] who = at.getUserInfo().split(":", 2);
        String url = "jdbc:postgresql://" + at.getHost() + ":" + at.getPort() + at.getPath() + "?" + at.getQuery() + "&ApplicationName=clients&" + options;
        return DriverManager.getConnection(url, who[0], who[1]);
    }

    // with runs a check on a connection of its own.
    static void with(String options, Check check) throws Exception {
        Connection before = c;
        try (Connection other = connect(options)) {
            c = other;
            check.run();
        } finally {
            c = before;
        }
    }

    static void check(String name, Check check) {
        String error = "";
        try {
            execute("DELETE FROM samples");
            execute("DELETE FROM conversations");
            check.run();
        } catch (Throwable e) {
            failed++;
            StringBuilder s = new StringBuilder(e.toString());
            if (e instanceof SQLException) s.append(" (").append(((SQLException) e).getSQLState()).append(")");
            for (StackTraceElement f : e.getStackTrace()) if (f.getClassName().startsWith("Crud")) s.append(" at ").append(f.getLineNumber());
            error = s.toString();
            try { if (!c.getAutoCommit()) { c.rollback(); c.setAutoCommit(true); } } catch (SQLException later) { error += "; " + later; }
        }
        System.out.println("{\"name\": " + json(name) + ", \"error\": " + json(error) + "}");
    }

    static String json(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char ch : text.toCharArray()) {
            if (ch == '"' || ch == '\\') out.append('\\').append(ch);
            else if (ch < ' ') out.append(String.format("\\u%04x", (int) ch));
            else out.append(ch);
        }
        return out.append('"').toString();
    }

    static void is(Object got, Object want) {
        if (!Objects.deepEquals(got, want)) throw new AssertionError("got " + show(got) + ", want " + show(want));
    }

    static String show(Object o) { return o == null ? "null" : o.getClass().isArray() ? Arrays.deepToString(new Object[] {o}) : o + " (" + o.getClass().getSimpleName() + ")"; }

    static SQLException fails(String state, Check check) throws Exception {
        try {
            check.run();
        } catch (SQLException e) {
            is(e.getSQLState(), state);
            return e;
        }
        throw new AssertionError("no error where " + state + " was expected");
    }

    static int execute(String sql, Object... args) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(sql)) {
            for (int i = 0; i < args.length; i++) s.setObject(i + 1, args[i]);
            s.execute();
            return s.getUpdateCount();
        }
    }

    // one gives the first column of the first row.
    static Object one(String sql, Object... args) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(sql)) {
            for (int i = 0; i < args.length; i++) s.setObject(i + 1, args[i]);
            try (ResultSet r = s.executeQuery()) {
                return r.next() ? r.getObject(1) : null;
            }
        }
    }

    static void crud() throws Exception {
        is(execute("INSERT INTO conversations (id, title) VALUES (?, ?), (?, ?)", "c1", "Grüße", "c2", "zwei"), 2);
        String id;
        try (PreparedStatement s = c.prepareStatement("INSERT INTO messages (conversation_id, content) VALUES (?, ?)", new String[] {"id"})) {
            s.setString(1, "c1");
            s.setString(2, "世界");
            is(s.executeUpdate(), 1);
            try (ResultSet keys = s.getGeneratedKeys()) {
                is(keys.next(), true);
                id = keys.getString("id");
            }
        }
        is(one("SELECT m.content || c.title FROM messages AS m JOIN conversations AS c ON c.id = m.conversation_id WHERE m.id = ?", id), "世界Grüße");
        is(one("UPDATE conversations SET title = ? WHERE id = ? RETURNING title", "neu", "c2"), "neu");
        for (int n = 1; n <= 2; n++) is(one("INSERT INTO samples (id, i4) VALUES (?, 1) ON CONFLICT (id) DO UPDATE SET i4 = samples.i4 + 1 RETURNING i4", -1L), n);
        is(execute("DELETE FROM samples"), 1);
        is(execute("DELETE FROM conversations"), 2);
        is(one("SELECT count(*) FROM messages"), 0L);
    }

    static void prepared() throws Exception {
        try (PreparedStatement insert = c.prepareStatement("INSERT INTO samples (id, t) VALUES (?, ?)");
                PreparedStatement read = c.prepareStatement("SELECT id, t, i4 FROM samples WHERE id = ? AND t LIKE ?")) {
            for (long n = 0; n < 12; n++) {
                insert.setLong(1, n);
                insert.setString(2, "row " + n);
                is(insert.executeUpdate(), 1);
                read.setLong(1, n);
                read.setString(2, "row%");
                try (ResultSet r = read.executeQuery()) {
                    is(r.next(), true);
                    is(r.getLong(1), n);
                    is(r.getString("t"), "row " + n);
                    is(r.getInt(3), 0);
                    is(r.wasNull(), true);
                    is(r.next(), false);
                }
            }
        }
        try (PreparedStatement s = c.prepareStatement("SELECT ?::int4 + 1")) { // the type of the parameter changes in between
            for (int n = 0; n < 12; n++) {
                if (n % 3 == 0) s.setString(1, "" + n); else s.setInt(1, n);
                try (ResultSet r = s.executeQuery()) {
                    r.next();
                    is(r.getInt(1), n + 1);
                }
            }
        }
        execute("DELETE FROM samples");
    }

    static void types() throws Exception {
        execute("DELETE FROM samples");
        UUID u = UUID.fromString("6f9619ff-8b86-d011-b42d-00c04fc964ff");
        byte[] raw = {0, (byte) 255, 92, 39};
        OffsetDateTime at = OffsetDateTime.parse("2024-02-29T12:34:56.789012Z");
        PGobject jsonb = new PGobject();
        jsonb.setType("jsonb");
        jsonb.setValue("{\"b\": [true, null, \"ü\"]}");
        PGobject json = new PGobject();
        json.setType("json");
        json.setValue("{\"a\":1}");
        String sql = "INSERT INTO samples (id, i2, i4, i8, num, f4, f8, b, t, vc, raw, d, tm, ts, tz, iv, u, j, jb, ints, texts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
        for (int n = 0; n < 7; n++) {
            try (PreparedStatement s = c.prepareStatement(sql)) {
                Object[] values = {(long) n, (short) -32768, 2147483647, Long.MIN_VALUE, new BigDecimal("-12345678901234567890.1234567890"), 1.5f, 1e-300, true,
                    "ü ∑ 🐘 'quoted' \\ \"\n\t", "", raw, LocalDate.of(2024, 2, 29), LocalTime.parse("23:59:59.999999"), LocalDateTime.parse("1969-12-31T23:59:59.123456"), at,
                    new PGInterval("1 year 2 mons -3 days"), u, json, jsonb, c.createArrayOf("int4", new Object[] {1, -2, 3}), c.createArrayOf("text", new Object[] {"a", "", "q\"\\", null})};
                for (int i = 0; i < values.length; i++) s.setObject(i + 1, values[i]);
                is(s.executeUpdate(), 1);
            }
        }
        try (PreparedStatement s = c.prepareStatement("SELECT * FROM samples WHERE id = ? AND u = ? AND tz = ? AND raw = ? AND ints = ? AND jb @> ?::jsonb AND d = ? AND num > ?")) {
            for (int n = 0; n < 7; n++) {
                s.setLong(1, n);
                s.setObject(2, u);
                s.setObject(3, at);
                s.setBytes(4, raw);
                s.setArray(5, c.createArrayOf("integer", new Object[] {1, -2, 3}));
                s.setString(6, "{\"b\": [true]}");
                s.setDate(7, java.sql.Date.valueOf("2024-02-29"));
                s.setBigDecimal(8, new BigDecimal("-1e30"));
                try (ResultSet r = s.executeQuery()) {
                    is(r.next(), true);
                    is(r.getShort("i2"), (short) -32768);
                    is(r.getObject("i4"), 2147483647);
                    is(r.getObject("i8"), Long.MIN_VALUE);
                    is(r.getBigDecimal("num"), new BigDecimal("-12345678901234567890.1234567890"));
                    is(r.getObject("f4"), 1.5f);
                    is(r.getDouble("f8"), 1e-300);
                    is(r.getObject("b"), true);
                    is(r.getString("t"), "ü ∑ 🐘 'quoted' \\ \"\n\t");
                    is(r.getBytes("raw"), raw);
                    is(r.getObject("d", LocalDate.class), LocalDate.of(2024, 2, 29));
                    is(r.getObject("tm", LocalTime.class), LocalTime.parse("23:59:59.999999"));
                    is(r.getObject("ts", LocalDateTime.class), LocalDateTime.parse("1969-12-31T23:59:59.123456"));
                    is(r.getTimestamp("tz").toInstant(), at.toInstant());
                    is(r.getObject("iv").toString(), "1 years 2 mons -3 days 0 hours 0 mins 0.0 secs");
                    is(r.getObject("u"), u);
                    is(r.getString("j"), "{\"a\":1}");
                    is(r.getObject("jb").toString(), "{\"b\": [true, null, \"ü\"]}");
                    is(r.getArray("ints").getArray(), new Integer[] {1, -2, 3});
                    is(r.getArray("texts").getArray(), new String[] {"a", "", "q\"\\", null});
                    is(r.getObject("code"), null);
                }
            }
        }
        try (PreparedStatement s = c.prepareStatement("UPDATE samples SET tz = ?, d = ?, t = ?, i4 = ? WHERE id = ?")) {
            s.setTimestamp(1, Timestamp.from(at.toInstant().plusSeconds(1)));
            s.setNull(2, Types.DATE);
            s.setNull(3, Types.VARCHAR);
            s.setObject(4, null);
            s.setInt(5, 3);
            is(s.executeUpdate(), 1);
        }
        is(((Timestamp) one("SELECT tz FROM samples WHERE id = 3 AND d IS NULL AND t IS NULL AND i4 IS NULL")).toInstant(), at.toInstant().plusSeconds(1));
        execute("DELETE FROM samples");
    }

    // Those that the driver has to ask for.
    static void rareTypes() throws Exception {
        String[][] rare = {{"jsonb", "{}"}, {"inet", "192.0.2.1"}, {"int4range", "[1,3)"}, {"int4multirange", "{[1,3)}"}, {"tsvector", "'a'"}, {"box", "(2,2),(1,1)"}};
        for (int turn = 0; turn < 7; turn++) {
            for (String[] of : rare) {
                PGobject o = new PGobject();
                o.setType(of[0]);
                o.setValue(of[1]);
                try (PreparedStatement s = c.prepareStatement("SELECT ? AS given, '" + of[1].replace("'", "''") + "'::" + of[0] + " AS made, ? AS list")) {
                    s.setObject(1, o);
                    s.setArray(2, c.createArrayOf(of[0], new Object[] {of[1], null}));
                    try (ResultSet r = s.executeQuery()) {
                        r.next();
                        is(r.getObject(1), r.getObject(2));
                        is(r.getMetaData().getColumnTypeName(1), of[0]);
                        is(r.getMetaData().getColumnTypeName(3), "_" + of[0]);
                        is(r.getMetaData().getColumnType(3), Types.ARRAY);
                        is(r.getMetaData().getColumnType(2), Types.OTHER);
                        is(((Object[]) r.getArray(3).getArray()).length, 2);
                        is(r.getArray(3).getBaseTypeName(), of[0]);
                    }
                }
            }
        }
        for (String name : new String[] {"nothing", "public.nothing"}) {
            PGobject o = new PGobject();
            o.setType(name);
            o.setValue("x");
            fails("07006", () -> one("SELECT ?", o));
        }
        PGobject o = new PGobject();
        o.setType("pg_catalog.jsonb");
        o.setValue("{}");
        is(one("SELECT ?", o).toString(), "{}");
    }

    static void transactions() throws Exception {
        c.setAutoCommit(false);
        execute("INSERT INTO samples (id, t) VALUES (1, 'kept')");
        Savepoint named = c.setSavepoint("point"), bare = c.setSavepoint();
        execute("INSERT INTO samples (id, t) VALUES (2, 'gone')");
        fails("23505", () -> execute("INSERT INTO samples (id) VALUES (1)"));
        fails("25P02", () -> one("SELECT 1"));
        c.rollback(bare);
        c.releaseSavepoint(bare);
        c.rollback(named);
        execute("INSERT INTO samples (id, t) VALUES (3, 'kept')");
        c.commit();
        execute("DELETE FROM samples");
        c.rollback();
        is(one("SELECT count(*) FROM samples WHERE t = 'kept'"), 2L);
        c.commit();
        c.setAutoCommit(true);
        execute("DELETE FROM samples");
    }

    static void modes() throws Exception {
        c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
        is(c.getTransactionIsolation(), Connection.TRANSACTION_SERIALIZABLE);
        c.setReadOnly(true);
        c.setAutoCommit(false);
        is(one("SHOW transaction_isolation"), "serializable");
        fails("25006", () -> execute("INSERT INTO samples (id) VALUES (1)"));
        c.rollback();
        c.setReadOnly(false);
        c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        execute("INSERT INTO samples (id) VALUES (1)");
        c.commit();
        c.setAutoCommit(true);
        is(one("SELECT count(*) FROM samples"), 1L);
    }

    static void batches(Connection c) throws Exception {
        try (PreparedStatement s = c.prepareStatement("INSERT INTO samples (id, t, tz) VALUES (?, ?, ?)")) {
            for (int n = 0; n < 500; n++) {
                s.setInt(1, n);
                s.setString(2, "row " + n);
                s.setObject(3, n % 2 == 0 ? OffsetDateTime.parse("2024-02-29T00:00:00Z") : null);
                s.addBatch();
            }
            int[] counts = s.executeBatch();
            is(counts.length, 500);
        }
        is(one("SELECT count(*) FROM samples WHERE t LIKE 'row %'"), 500L);
        try (Statement s = c.createStatement()) {
            s.addBatch("UPDATE samples SET t = 'x' WHERE id < 10");
            s.addBatch("DELETE FROM samples WHERE id >= 490");
            is(s.executeBatch(), new int[] {10, 10});
        }
        try (PreparedStatement s = c.prepareStatement("INSERT INTO samples (id) VALUES (?)")) {
            for (int n : new int[] {1000, 1, 1001}) {
                s.setInt(1, n);
                s.addBatch();
            }
            fails("23505", s::executeBatch);
        }
        is(one("SELECT count(*) FROM samples"), 490L);
        execute("DELETE FROM samples");
    }

    static void portions() throws Exception {
        execute("INSERT INTO samples (id, t) SELECT n, 'row ' || n FROM generate_series(1, 20000) AS n");
        c.setAutoCommit(false);
        try (PreparedStatement s = c.prepareStatement("SELECT id, t FROM samples WHERE id > ? ORDER BY id");
                PreparedStatement beside = c.prepareStatement("UPDATE samples SET i4 = 1 WHERE id = ?")) {
            s.setFetchSize(50);
            for (int turn = 0; turn < 7; turn++) {
                s.setLong(1, turn);
                long n = turn;
                try (ResultSet r = s.executeQuery()) {
                    while (r.next()) {
                        is(r.getLong(1), ++n);
                        if (n % 1000 == 0) {
                            beside.setLong(1, n);
                            is(beside.executeUpdate(), 1);
                        }
                        if (turn > 0 && n > 300) break;
                    }
                }
                if (turn == 0) is(n, 20000L);
            }
        }
        c.commit();
        c.setAutoCommit(true);
        if (c.unwrap(PGConnection.class).getPreferQueryMode() != PreferQueryMode.SIMPLE) try (PreparedStatement s = c.prepareStatement("SELECT id FROM samples ORDER BY id")) {
            s.setMaxRows(10);
            try (ResultSet r = s.executeQuery()) {
                int n = 0;
                while (r.next()) n++;
                is(n, 10);
            }
        }
        execute("DELETE FROM samples");
    }

    static void several() throws Exception {
        try (Statement s = c.createStatement()) {
            is(s.execute("SELECT 1; UPDATE samples SET t = 'x'; SELECT 2"), true);
            is(s.getMoreResults(), false);
            is(s.getUpdateCount(), 0);
            is(s.getMoreResults(), true);
            try (ResultSet r = s.getResultSet()) {
                r.next();
                is(r.getInt(1), 2);
            }
        }
    }

    static void errors() throws Exception {
        fails("42601", () -> one("SELEC 1"));
        fails("42703", () -> one("SELECT nothing FROM samples"));
        fails("22012", () -> one("SELECT 1 / ?", 0));
        fails("22P02", () -> one("SELECT 'x'::int4"));
        execute("INSERT INTO samples (id, code) VALUES (1, 'a')");
        fails("23505", () -> execute("INSERT INTO samples (id, code) VALUES (2, 'a')"));
        is(one("SELECT 1"), 1);
    }

    static void autosave() throws Exception {
        c.setAutoCommit(false);
        execute("INSERT INTO samples (id) VALUES (1)");
        for (int n = 0; n < 7; n++) fails("23505", () -> execute("INSERT INTO samples (id) VALUES (?)", 1L));
        execute("INSERT INTO samples (id) VALUES (2)");
        c.commit();
        c.setAutoCommit(true);
        is(one("SELECT count(*) FROM samples"), 2L);
    }

    static void cancel() throws Exception {
        try (Statement s = c.createStatement()) {
            s.setQueryTimeout(1);
            fails("57014", () -> s.executeQuery(SLOW));
        }
        is(one("SELECT 1"), 1);
        ScheduledExecutorService later = Executors.newSingleThreadScheduledExecutor();
        try (PreparedStatement s = c.prepareStatement(SLOW)) {
            for (int n = 0; n < 3; n++) {
                // The driver cancels nothing before the statement is under way, which takes more than 300 ms on a busy machine.
                var again = later.scheduleWithFixedDelay(() -> { try { s.cancel(); } catch (SQLException ignored) { } }, 300, 300, TimeUnit.MILLISECONDS);
                fails("57014", s::executeQuery);
                again.cancel(false);
            }
        } finally {
            later.shutdownNow();
        }
        is(one("SELECT 1"), 1);
        execute("SET statement_timeout = 200");
        fails("57014", () -> one(SLOW));
        execute("RESET statement_timeout");
    }

    static void copy() throws Exception {
        var copies = c.unwrap(PGConnection.class).getCopyAPI();
        StringBuilder rows = new StringBuilder();
        for (int n = 1; n <= 1000; n++) rows.append(n).append("\trow ").append(n).append('\n');
        is(copies.copyIn("COPY samples (id, t) FROM STDIN", new StringReader(rows.toString())), 1000L);
        var out = new java.io.ByteArrayOutputStream();
        is(copies.copyOut("COPY (SELECT id, t FROM samples ORDER BY id) TO STDOUT", out), 1000L);
        is(out.toString(StandardCharsets.UTF_8), rows.toString());
        fails("22P02", () -> copies.copyIn("COPY samples (id, t) FROM STDIN", new StringReader("x\ty\n")));
        is(one("SELECT count(*) FROM samples"), 1000L);
    }

    static void pools() throws Exception {
        is(c.isValid(5), true);
        is(c.getSchema(), "public");
        c.setSchema("public");
        is(c.getMetaData().getDatabaseProductName(), "PostgreSQL");
        is(c.getMetaData().getDatabaseMajorVersion() >= 15, true);
        is(c.getClientInfo("ApplicationName"), "clients");
        c.setClientInfo("ApplicationName", "other");
        is(one("SHOW application_name"), "other");
        c.setNetworkTimeout(Runnable::run, 10000);
        is(one("SELECT 1"), 1);
        c.setNetworkTimeout(Runnable::run, 0);
        execute("DISCARD ALL");
        execute("SET TimeZone = 'UTC'");
        is(one("SELECT 1"), 1);
        try (Connection other = connect("readOnly=true&assumeMinServerVersion=12&loginTimeout=10&options=-c%20statement_timeout=5000")) {
            is(other.isReadOnly(), true);
            is(other.isValid(5), true);
        }
    }
}
