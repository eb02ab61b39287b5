import { parentPort, workerData } from 'node:worker_threads';
import { canonicalJson } from './canonical-json.js';

/** A thread that writes one document in canonical form. */

const bytes = canonicalJson(workerData as Uint8Array);
parentPort?.postMessage(bytes);
