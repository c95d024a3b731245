#pragma once

/// Has the next call of `send` whose bytes begin with a text return only when its socket has something to be read, at the latest
/// after ten seconds. The text must stay valid. Null stops waiting.
void send_hook_wait_after(const char *text);

/// Whether no `send` has had these bytes yet.
_Bool send_hook_is_armed(void);
