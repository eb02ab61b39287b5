import { parentPort, workerData } from 'node:worker_threads';
import { canonicalJson } from './canonical-json.js';

/** The thread of `inCanonicalForm`: it converts one document. */

const bytes = canonicalJson(workerData as Uint8Array);
parentPort?.postMessage(bytes);
