-- Refuses a malformed :v_room.
select refuse(
  'invalid-room-id',
  iif(
    length(:v_room) > 200,
    'Room ID ''' || substr(:v_room, 1, 200) || '…'' is longer than 200 characters',
    'Room ID ''' || :v_room || ''' contains invalid characters (@ or :)'
  ),
  null,
  'A room is not empty, has at most 200 characters and neither @ nor a colon; or it is @global or @internal.'
)
where :v_room not in ('@global', '@internal')
  and (:v_room = '' or instr(:v_room, '@') > 0 or instr(:v_room, ':') > 0 or length(:v_room) > 200);
