import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The part of AVA's `ExecutionContext` for cleaning up after a test. */
export interface Cleanup {
	teardown(work: () => void | Promise<void>): void;
}

/** Creates an empty folder, and removes it after the test. Hooks must use `temporaryFolder` instead. */
export function temporary(t: Cleanup): string {
	const folder = temporaryFolder();
	t.teardown(() => removeFolder(folder));
	return folder;
}

/** Creates an empty folder in the system's temporary folder. The caller must remove it with `removeFolder`. */
export function temporaryFolder(): string {
	return mkdtempSync(join(tmpdir(), 'regolith-test-'));
}

/** Removes a folder and its contents. Retries for a second if a program still uses files in it. */
export function removeFolder(folder: string): void {
	rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
