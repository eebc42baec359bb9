package silicon.jvm;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** The process that verifies: {@code silicon serve --stdio}. */
final class Server implements AutoCloseable {
    /** What is heard when the process says no more. */
    private static final String END = "";

    private final Process process;
    private final OutputStream orders;
    private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    private volatile boolean isClosed;
    private long requests;

    Server(String command) throws IOException {
        process = new ProcessBuilder(command, "serve", "--stdio")
                .redirectError(Redirect.DISCARD)
                .start();
        orders = process.getOutputStream();
        Thread listener = new Thread(this::listen, "silicon");
        listener.setDaemon(true);
        listener.start();
    }

    private void listen() {
        try (BufferedReader said = new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            String line = said.readLine();
            for (; line != null && !isClosed; line = said.readLine()) {
                if (!line.isEmpty()) {
                    heard.add(line);
                }
            }
        } catch (IOException gone) {
            // It is the end, too.
        }
        heard.add(END);
    }

    /** Tells whether requests can still be made. */
    boolean isThere() {
        return process.isAlive() && !heard.contains(END);
    }

    /** Who hears the lines of an answer; `true`: it was the last one. */
    interface Audience {
        boolean hear(Map<String, Object> line);
    }

    /** Has a text verified. */
    void verify(String name, String text, List<String> options, Audience audience)
            throws IOException, InterruptedException {
        StringBuilder order = new StringBuilder("{\"id\":").append(++requests);
        order.append(",\"verify\":{\"name\":").append(Json.quote(name));
        order.append(",\"text\":").append(Json.quote(text)).append(",\"options\":[");
        for (int index = 0; index < options.size(); index++) {
            order.append(index == 0 ? "" : ",").append(Json.quote(options.get(index)));
        }
        say(order.append("]}}").toString());
        while (!hear(audience)) {
            // There is more.
        }
    }

    private boolean hear(Audience audience) throws IOException, InterruptedException {
        String line = heard.take();
        if (line.equals(END)) {
            heard.add(END);
            throw new IOException("the process that verifies has ended");
        }
        try {
            Map<String, Object> answer = object(Json.read(line));
            if (!(answer.get("to") instanceof Double to) || to.longValue() != requests) {
                throw new IOException("an answer to no request: " + shortened(line));
            }
            if (answer.get("error") != null) {
                throw new Refused(String.valueOf(answer.get("error")));
            }
            return audience.hear(object(answer.get("line")));
        } catch (IllegalArgumentException | ClassCastException problem) {
            throw new IOException("no answer: " + shortened(line), problem);
        }
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> object(Object value) {
        if (value instanceof Map<?, ?> map) {
            return (Map<String, Object>) map;
        }
        throw new IllegalArgumentException("no object");
    }

    private static String shortened(String line) {
        return line.length() > 200 ? line.substring(0, 200) + "…" : line;
    }

    private void say(String line) throws IOException {
        orders.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        orders.flush();
    }

    /** The request was not accepted. */
    static final class Refused extends IOException {
        private static final long serialVersionUID = 1;

        Refused(String why) {
            super(why);
        }
    }

    /** Ends the process, whatever it is doing. */
    @Override
    public void close() {
        isClosed = true;
        try {
            orders.close();
        } catch (IOException gone) {
            // So it is.
        }
        process.destroy();
    }
}
