/** Location in the console: `/console/{project}/{environment}/{screen}`. */
export interface ConsolePlace {
	/** Project key or id. */
	readonly project: string;
	/** Environment key or id. */
	readonly environment: string;
	/** Remaining path, without slashes at its ends. Empty for the first screen. */
	readonly screen: string;
}

/** Parses a path. Returns `null` if the path contains no environment. */
export function readConsolePlace(path: string): ConsolePlace | null {
	const [root, project = '', environment = '', ...screen] = path.split('/').slice(1).map(decoded);
	if (root !== 'console' || project === '' || environment === '') return null;
	return { project, environment, screen: screen.filter((step) => step !== '').join('/') };
}

export function consolePath({ project, environment, screen }: ConsolePlace): string {
	const steps = [project, environment].map(encodeURIComponent).join('/');
	return `/console/${steps}/${screen}`;
}

/** Decodes a path step. Returns the step unchanged if its encoding is invalid. */
function decoded(step: string): string {
	try {
		return decodeURIComponent(step);
	} catch {
		return step;
	}
}
