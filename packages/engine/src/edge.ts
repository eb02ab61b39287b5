/** Entry for browsers and edge runtimes. */

import './no-generated-code.js';

export * from './index.js';
