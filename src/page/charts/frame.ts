/** The size of a picture, in the units of its viewBox. They are pixels when it is shown at that size. */
export interface Frame {
  readonly name: "wide" | "narrow";
  readonly width: number;
  readonly height: number;
  readonly fontSize: number;
  readonly lineWidth: number;
  /** The maximum number of dates on the axis. */
  readonly dateLabels: number;
}

export const WIDE: Frame = {
  name: "wide",
  width: 960,
  height: 260,
  fontSize: 13,
  lineWidth: 2,
  dateLabels: 10,
};
export const NARROW: Frame = {
  name: "narrow",
  width: 340,
  height: 230,
  fontSize: 12,
  lineWidth: 1.5,
  dateLabels: 4,
};
