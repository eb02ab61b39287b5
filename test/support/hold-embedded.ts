/** If this module is imported before test files, they declare only their tests for the embedded store. */
import { holdEmbedded } from './each-store.js';

holdEmbedded();
