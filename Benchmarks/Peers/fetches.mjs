// The loads of bench-loading with Node's fetch: the same arguments, lines and rounds as multi.c.
import { createInterface } from "node:readline";

const [url, count, concurrent] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];

async function round() {
    let next = 0, bytes = 0;
    const lane = async () => {
        while (next < count) {
            const response = await fetch(url + next++);
            if (!response.ok) throw new Error(`status ${response.status}`);
            bytes += (await response.arrayBuffer()).byteLength;
        }
    };
    await Promise.all(Array.from({ length: concurrent }, lane));
    return bytes;
}

for await (const _ of createInterface({ input: process.stdin })) {
    const wall = process.hrtime.bigint(), usage = process.cpuUsage();
    const bytes = await round();
    const spent = process.cpuUsage(usage);
    const nanoseconds = Number(process.hrtime.bigint() - wall) / count;
    console.log(`${nanoseconds.toFixed(0)} ${(((spent.user + spent.system) * 1000) / count).toFixed(0)} ${bytes}`);
}
