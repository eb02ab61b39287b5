/* Old syntax on purpose, see run.mjs: this file is read by versions of Node.js that are too old for the rest. */

/** The oldest Node.js that the project runs on; package.json `engines` says the same. */
export var oldestNode = [20, 19];

/** Says in one sentence why this version of Node.js will not do; null when it will. */
export function nodeProblem(version) {
	var parts = version.split('.').map(Number);
	var tooOld = parts[0] < oldestNode[0] || (parts[0] === oldestNode[0] && parts[1] < oldestNode[1]);
	if (!tooOld) return null;
	return (
		'Regolith needs Node.js ' + oldestNode.join('.') + ' or newer, and this is ' + version + '. See https://nodejs.org.'
	);
}
