/** Where the generated policy says what the schema says: for explanations that lead to it. */

import type { RoleName } from '../cycle.js';
import { literal } from '../rego/literal.js';
import { keyFolder, packagePart } from '../rego/path.js';

/** A rule of the generated policy. */
export interface RulePlace {
	/** Without `data.`, as the file names it. */
	readonly package: string;
	/** Relative to the root of the policy. */
	readonly file: string;
	/** The name of the rule or function; of a rule with keys, with the key. */
	readonly rule: string;
}

/** The rule that permits an action on a resource type. */
export function actionPlace(resource: string, action: string): RulePlace {
	return {
		package: `regolith.resources${packagePart(resource).text}`,
		file: `regolith/resources/${keyFolder(resource)}/permits.rego`,
		rule: `permits[${literal(action)}]`,
	};
}

/** The rule that says whether condition sets grant an action on a resource type. */
export function setRulesPlace(resource: string, action: string): RulePlace {
	return {
		package: `regolith.set_rules${packagePart(resource).text}${packagePart(action).text}`,
		file: `regolith/set_rules/${keyFolder(resource)}/${keyFolder(action)}/granted.rego`,
		rule: 'granted',
	};
}

/** The rule that says whether a role is held on an instance. It asks the functions in `roleFile`. */
export function rolePlace({ type, role }: RoleName): RulePlace {
	return {
		package: `regolith.instances${packagePart(type).text}`,
		file: `regolith/instances/${keyFolder(type)}/holds.rego`,
		rule: `holds[${literal(role)}]`,
	};
}

/** The file of a role on instances, with a body for each way to hold it. */
export function roleFile({ type, role }: RoleName): string {
	return `regolith/roles/${keyFolder(type)}/${keyFolder(role)}/held.rego`;
}
