#ifndef CAIRN_CCONCURRENCYDEBUG_H
#define CAIRN_CCONCURRENCYDEBUG_H

// Nothing to call: linking this is enough.

#endif
