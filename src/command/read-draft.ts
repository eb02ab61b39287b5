import { readFileSync } from 'node:fs';
import { onFile } from './on-file.js';

/** Reads a draft as text. Throws `ConfigError` if it is not JSON. */
export function readDraft(file: string): string {
	return onFile(file, () => {
		const text = readFileSync(file === '-' ? 0 : file, 'utf8');
		JSON.parse(text);
		return text;
	});
}
