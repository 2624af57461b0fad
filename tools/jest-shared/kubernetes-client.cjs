const { loadOnce } = require('./load-once.cjs');

module.exports = loadOnce('kube', '@kubernetes/client-node');
