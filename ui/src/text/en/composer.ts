/** Words of the composer, the modes, the context ring and the queue. SPEC U4, U13, C1. */
export const composer = {
  'composer.label': 'Message',
  'composer.idle': 'Ask for a change or a question',
  'composer.running': 'Queue a message, or send it now',
  'composer.send': 'Send',
  'composer.queue': 'Queue',
  'composer.send_now': 'Send now',
  'composer.stop': 'Stop',
  'composer.stopping': 'Stopping…',
  'composer.attach': 'Attach a picture',
  'composer.attached': 'Attached pictures',
  'composer.uploading': 'Adding {name}…',
  'composer.remove_picture': 'Remove {name}',
  'composer.picture_failed': 'Could not add {name}: {why}',
  'composer.not_a_picture':
    '{name} is no PNG, JPEG, GIF or WebP picture. Name other files by their path in the message.',
  'composer.picture_large': '{name} is larger than 20 MB. Make it smaller, then attach it again.',
  'composer.drop_here': 'Drop pictures to attach them',
  'composer.send_failed': 'The message was not sent: {why}',
  'composer.too_long':
    'The message is longer than 1,000,000 characters. Put the text in a file and name its path.',
  'composer.read_only': 'Another window runs this session; it is read-only here.',
  'composer.mode': 'Mode: {mode}',
  'composer.not_sandboxed': 'not sandboxed',
  'composer.model': 'Model: {model}',
  'composer.no_model': 'Choose a model',
  'composer.model_settings': 'Model settings…',
  'composer.model_local': 'on this machine',
  'composer.model_hosted': 'hosted',
  'composer.local': 'local',
} as const;

export const mode = {
  'mode.title': 'What may happen without a click',
  'mode.manual': 'Manual',
  'mode.manual_means': 'asks before changes',
  'mode.accept-edits': 'Accept edits',
  'mode.accept-edits_means': 'asks for commands',
  'mode.auto': 'Auto',
  'mode.auto_means': 'asks for risky things',
  'mode.plan': 'Plan',
  'mode.plan_means': 'changes nothing',
} as const;

export const context = {
  'context.title': 'Context',
  'context.ring': 'Context: {percent} % full',
  'context.ring_unknown': 'Context: not known yet',
  'context.unknown': 'not known yet',
  'context.used': '{used} of {window}',
  'context.used_no_window': '{used} used; the size of the window is not known',
  'context.summarised_at': 'Older parts are summarised at {at}.',
  'context.part.rules': 'Rules and tools',
  'context.part.notes': 'Instructions and memory',
  'context.part.results': 'Results',
  'context.part.pictures': 'Pictures',
  'context.part.conversation': 'Conversation',
} as const;

export const queue = {
  'queue.title': 'Queued messages',
  'queue.card': 'Queued message {n}',
  'queue.send_now': 'Send now',
  'queue.edit': 'Edit queued message {n}',
  'queue.remove': 'Remove queued message {n}',
  'queue.send_now_label': 'Send now: queued message {n}',
} as const;
