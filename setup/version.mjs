/**
 * Parses `1.22.0`, `v1.22.0`, `go1.26.8` or `1.27rc1` into numbers; a missing patch is 0, and any suffix is ignored.
 * @param {string} text
 * @returns {readonly [number, number, number] | undefined} undefined if the text contains no version
 */
export function parseVersion(text) {
	const found = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
	return found ? [Number(found[1]), Number(found[2]), Number(found[3] ?? 0)] : undefined;
}

/**
 * Orders two versions: negative if `a` is older, zero if equal, positive if newer.
 * @param {readonly number[]} a
 * @param {readonly number[]} b
 */
export function compareVersions(a, b) {
	return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

/**
 * True if a tool with this version can replace the wanted version: same major, same or newer minor, any patch.
 * @param {readonly number[]} found
 * @param {readonly number[]} wanted
 */
export function isCompatible(found, wanted) {
	return found[0] === wanted[0] && found[1] >= wanted[1];
}
