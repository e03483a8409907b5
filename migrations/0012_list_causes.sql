-- additive: three columns that may be null; rows of older programs have none, and their `deficit` says the same in one number
ALTER TABLE "sync"."walks" ADD COLUMN "unshown" bigint;--> statement-breakpoint
ALTER TABLE "sync"."walks" ADD COLUMN "repeated" bigint;--> statement-breakpoint
ALTER TABLE "sync"."walks" ADD COLUMN "held" bigint;--> statement-breakpoint
COMMENT ON COLUMN sync.walks.unstored IS 'Records that the list shows and that could not be stored; of a walk that is not whole, those in quarantine.';
COMMENT ON COLUMN sync.walks.unshown IS 'Records that the service counted and its list did not show; negative where it showed more than it counted; null where that was not measured.';
COMMENT ON COLUMN sync.walks.repeated IS 'Records that the service counted twice, because one page of its list showed them twice.';
COMMENT ON COLUMN sync.walks.held IS 'Records that are here and were missing from the list, because their deletion was held back.';
COMMENT ON COLUMN sync.walks.deficit IS 'How many records more the service counted than the mirror has, of a head beyond what unshown, repeated and held explain; null where that was not compared.';
COMMENT ON COLUMN sync.walks.is_good IS 'Whether it was whole, or a head whose deficit is unstored.';
