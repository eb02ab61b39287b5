import { parentPort, workerData } from 'node:worker_threads';
import { canonicalJson } from './canonical-json.js';

/** Thread for `inCanonicalForm`: converts a document. */

const bytes = canonicalJson(workerData as Uint8Array);
parentPort?.postMessage(bytes);
