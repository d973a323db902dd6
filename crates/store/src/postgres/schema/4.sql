-- Bodies are packed in a form that older processes would take for damaged: this version keeps them out.
comment on column deliveries.body is 'packed; what it begins with says how';
