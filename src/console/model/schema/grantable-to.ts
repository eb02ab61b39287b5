import { isRecord } from '../equal-json.js';
import { listMember, textMember, type Value } from '../matrix/value-members.js';

/** Returns the roles whose sets of users can be assigned a role. Each has the form `<resource>:<role>`. */
export function readGrantableTo(role: Value): readonly string[] {
	return listMember(role, 'grantable_to')
		.filter(isRecord)
		.map((set) => `${textMember(set, 'on_resource')}:${textMember(set, 'role')}`);
}
