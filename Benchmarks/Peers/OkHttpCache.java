// Whole cached GETs through OkHttp's disk cache: OkHttpCache ORIGIN ENTRIES FOLDER. Fills the cache, warms the compiler up,
// prints "ready", and does a pass for each line that it reads: it prints microseconds a GET.
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import okhttp3.Cache;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;

public class OkHttpCache {
    static final int WARM_UP = 40;
    static final int BODY = 20480;

    public static void main(String[] arguments) throws IOException {
        String origin = arguments[0];
        int entries = Integer.parseInt(arguments[1]);
        OkHttpClient client = new OkHttpClient.Builder()
            .cache(new Cache(new File(arguments[2]), 1L << 30)).proxy(java.net.Proxy.NO_PROXY).build();
        pass(client, origin, entries, false);
        for (int pass = 0; pass < WARM_UP; pass++) pass(client, origin, entries, true);
        System.out.println("ready");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        while (input.readLine() != null) {
            long start = System.nanoTime();
            pass(client, origin, entries, true);
            System.out.println((System.nanoTime() - start) / 1e3 / entries);
        }
        System.exit(0);
    }

    /** One GET of each entry, in an order that is not that of storing. */
    static void pass(OkHttpClient client, String origin, int entries, boolean isCached) throws IOException {
        for (int index = 0; index < entries; index++) {
            Request request = new Request.Builder().url(origin + "/photo/" + index * 7919L % entries).build();
            try (Response response = client.newCall(request).execute()) {
                boolean usedNetwork = response.networkResponse() != null;
                if (response.body().bytes().length != BODY || usedNetwork == isCached) throw new IOException("" + response);
            }
        }
    }
}
