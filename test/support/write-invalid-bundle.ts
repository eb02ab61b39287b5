import { writeFileSync } from 'node:fs';
import { pack } from '../../src/bundle/pack.js';

/** Replaces `opa build`. Writes a bundle with an invalid module to `--output`. */
const output = process.argv[process.argv.indexOf('--output') + 1] ?? '';
const nothing = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 0xff]);
writeFileSync(output, await pack([{ path: 'policy.wasm', bytes: nothing }]));
