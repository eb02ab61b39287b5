/* Old syntax on purpose, see run.mjs: even a very old Node.js must be able to read this file. */

/** Oldest supported Node.js; must match package.json `engines`. */
export var oldestNode = [20, 19];

/** Returns an error message if this Node.js version is too old; otherwise null. */
export function nodeProblem(version) {
	var parts = version.split('.').map(Number);
	var tooOld = parts[0] < oldestNode[0] || (parts[0] === oldestNode[0] && parts[1] < oldestNode[1]);
	if (!tooOld) return null;
	return (
		'Regolith needs Node.js ' + oldestNode.join('.') + ' or newer, and this is ' + version + '. See https://nodejs.org.'
	);
}
