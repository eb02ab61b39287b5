import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { findOddEnglish } from './prose.mjs';

const tracked = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8', maxBuffer: 2 ** 26 }).split('\0');
const found = tracked.filter(existsSync).flatMap((file) => findOddEnglish(file, readFileSync(file, 'utf8')));
for (const line of found) console.error(line);
process.exitCode = found.length === 0 ? 0 : 1;
