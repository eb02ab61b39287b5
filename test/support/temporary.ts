import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a test's `t` offers to clean up with; an `ExecutionContext` of AVA is one. */
export interface Cleanup {
	teardown(work: () => void | Promise<void>): void;
}

/** Makes an empty folder that is removed when the test is over. Give a hook's `t` nothing of this: use `temporaryFolder`. */
export function temporary(t: Cleanup): string {
	const folder = temporaryFolder();
	t.teardown(() => removeFolder(folder));
	return folder;
}

/** Makes an empty folder in the system's temporary place; the caller removes it with `removeFolder`. */
export function temporaryFolder(): string {
	return mkdtempSync(join(tmpdir(), 'regolith-test-'));
}

/** Removes a folder and all in it; a program that is still letting go of its files gets a second. */
export function removeFolder(folder: string): void {
	rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
