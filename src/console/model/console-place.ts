/** Location in the console: `/console/{project}/{environment}/{screen}`. */
export interface ConsolePlace {
	/** Key or id. */
	readonly project: string;
	/** Key or id. */
	readonly environment: string;
	/** Remaining path, without slashes at its ends; empty for the first screen. */
	readonly screen: string;
}

/** Parses a path; `null` if it names no environment. */
export function readConsolePlace(path: string): ConsolePlace | null {
	const [root, project = '', environment = '', ...screen] = path.split('/').slice(1).map(decoded);
	if (root !== 'console' || project === '' || environment === '') return null;
	return { project, environment, screen: screen.filter((step) => step !== '').join('/') };
}

/** Returns the path to a screen. */
export function consolePath({ project, environment, screen }: ConsolePlace): string {
	const steps = [project, environment].map(encodeURIComponent).join('/');
	return `/console/${steps}/${screen}`;
}

/** Decodes a path step. Returns it unchanged if the encoding is invalid. */
function decoded(step: string): string {
	try {
		return decodeURIComponent(step);
	} catch {
		return step;
	}
}
