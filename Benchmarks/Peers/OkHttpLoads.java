import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import okhttp3.Cache;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.Dispatcher;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;

/** The loads of bench-loading with OkHttp: the same arguments, lines and rounds as multi.c; a fourth argument is a cache. */
final class OkHttpLoads {
    public static void main(String[] arguments) throws Exception {
        String url = arguments[0];
        int count = Integer.parseInt(arguments[1]);
        int concurrent = Integer.parseInt(arguments[2]);
        Dispatcher dispatcher = new Dispatcher();
        dispatcher.setMaxRequestsPerHost(concurrent);
        OkHttpClient.Builder builder = new OkHttpClient.Builder().dispatcher(dispatcher);
        if (arguments.length > 3) builder.cache(new Cache(new File(arguments[3]), 1L << 30));
        OkHttpClient client = builder.build();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        while (input.readLine() != null) {
            long wall = System.nanoTime();
            long processor = processorTime();
            long bytes = round(client, url, count);
            wall = System.nanoTime() - wall;
            processor = processorTime() - processor;
            System.out.println(wall / count + " " + processor / count + " " + bytes);
        }
        System.exit(0);
    }

    private static long processorTime() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getProcessCpuTime();
    }

    private static long round(OkHttpClient client, String url, int count) throws Exception {
        AtomicLong bytes = new AtomicLong();
        AtomicInteger failures = new AtomicInteger();
        CountDownLatch left = new CountDownLatch(count);
        Callback callback = new Callback() {
            @Override
            public void onFailure(Call call, IOException error) {
                failures.incrementAndGet();
                left.countDown();
            }

            @Override
            public void onResponse(Call call, Response response) throws IOException {
                try (response) {
                    bytes.addAndGet(response.body().bytes().length);
                } catch (IOException error) {
                    failures.incrementAndGet();
                }
                left.countDown();
            }
        };
        for (int number = 0; number < count; number++) {
            client.newCall(new Request.Builder().url(url + number).build()).enqueue(callback);
        }
        left.await();
        if (failures.get() > 0) throw new IOException(failures + " loads failed");
        return bytes.get();
    }
}
